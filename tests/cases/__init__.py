"""Small models with facts that plain PyTorch confirmed, and the check that holds a trace against them."""
