"""Commands for those who develop torchlens-lsp. None of this is installed with it."""
