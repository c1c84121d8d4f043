"""Write docs/gallery.md: what `torchlens-lsp trace` prints of the shipped examples and of three published models.

Writes the picture in README.md as well.

    python -m tools.gallery [--corpus INTERPRETER]

INTERPRETER has transformers, monai and diffusers; without it the chapters on these are kept as they are. Their own
files are traced, as a user would who wants to know what happens in there; nothing of them is changed.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
README = ROOT / "README.md"
PICTURE_BEGINS, PICTURE_ENDS = "<!-- picture: begin (written by `make gallery`) -->\n", "<!-- picture: end -->"
TRACE_SECONDS = 300

INTRODUCTION = """\
# Gallery

What `torchlens-lsp trace` prints, unedited but for parts of the files that are left out (`⋮`). Made by
`make gallery`. What stands right of `┊` was written there by the run; `░` marks what did not run.

`[5, 32] +3` is the shape in the call that is shown, and says that there were three further ones; `True 3 of 8` counts a
test over all calls. The dtype stands where it is not that of the call's first floating input.

The code of the published models is their authors' (Apache License 2.0, all three).
"""


@dataclass(frozen=True)
class Picture:
    """One trace to show: of a file, by an example of its own or by a call, and the definitions to show of it."""

    title: str
    text: str
    file: str
    """Relative to this project, or to site-packages of the corpus's interpreter."""
    show: tuple[str, ...] = ()
    """Qualified names of classes and functions; everything if empty."""
    example: str | None = None
    call: str | None = None

    @property
    def options(self) -> list[str]:
        """Arguments of `torchlens-lsp trace` beside the file."""
        named = ["--example", self.example] if self.example else []
        return [*named, "--call", self.call] if self.call else named


EXAMPLES = (
    Picture(
        "A language model",
        "Grouped queries in `einsum`, and a cache that is there or not. The call is a training step.",
        "examples/transformer.py",
        ("rope_table", "rotate", "Attention.forward", "Block.forward", "LanguageModel.forward"),
        example="default",
    ),
    Picture(
        "… and its generation loop",
        "The same file under its second example: the prompt goes through whole, then one token at a time.",
        "examples/transformer.py",
        ("Cache", "Attention.forward", "generate"),
        example="generate",
    ),
    Picture(
        "A residual network",
        "Two kinds of blocks behind one `forward`, some with a shortcut of their own.",
        "examples/resnet.py",
        ("drop_path", "SqueezeExcite.forward", "Residual.forward", "ResNet.forward"),
        example="default",
    ),
    Picture(
        "A U-Net on odd sizes",
        "75 × 58 does not halve three times: what was rounded away comes back as padding.",
        "examples/unet.py",
        ("fit", "Up.forward", "Bottom.forward", "UNet.forward"),
        example="default",
    ),
    Picture(
        "A mixture of experts",
        "Which expert got how many tokens, which none, and where there was no room.",
        "examples/mixture_of_experts.py",
        ("Router.forward", "MixtureOfExperts.forward", "Layer.forward", "Classifier.forward"),
        example="default",
    ),
    Picture(
        "A tagger",
        "Packed sentences, a mask, and Viterbi's algorithm step by step.",
        "examples/lstm_tagger.py",
        ("Crf.decode", "Tagger.forward"),
        example="default",
    ),
    Picture(
        "A recursive network",
        "`encode` calls itself down the tree of a sentence.",
        "examples/tree_lstm.py",
        ("ChildSum.forward", "TreeClassifier.encode", "TreeClassifier.forward"),
        example="default",
    ),
)

README_PICTURE = Picture("", "", "examples/mixture_of_experts.py", ("MixtureOfExperts.forward",), example="default")

LLAMA = (
    "LlamaForCausalLM(LlamaConfig(vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, "
    "num_attention_heads=4, num_key_value_heads=2))"
)
SWIN = "SwinUNETR(in_channels=1, out_channels=2, feature_size=24).eval()"
UNET = (
    "UNet2DConditionModel(sample_size=16, in_channels=4, out_channels=4, layers_per_block=1, "
    "block_out_channels=(32, 64), down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'), "
    "up_block_types=('UpBlock2D', 'CrossAttnUpBlock2D'), cross_attention_dim=32, attention_head_dim=8, "
    "norm_num_groups=8).eval()"
)

CORPUS = (
    Picture(
        "Llama, of transformers",
        "One call of a small configuration.",
        "transformers/models/llama/modeling_llama.py",
        (
            "LlamaRMSNorm.forward",
            "rotate_half",
            "apply_rotary_pos_emb",
            "repeat_kv",
            "eager_attention_forward",
            "LlamaAttention.forward",
            "LlamaDecoderLayer.forward",
            "LlamaModel.forward",
            "LlamaForCausalLM.forward",
        ),
        call=f"{LLAMA}.eval()(torch.randint(5, 90, (2, 12)), labels=torch.randint(5, 90, (2, 12)))",
    ),
    Picture(
        "… and `generate`",
        "The same file: a prompt of four tokens, then one at a time.",
        "transformers/models/llama/modeling_llama.py",
        ("LlamaAttention.forward", "LlamaForCausalLM.forward"),
        call=f"{LLAMA}.eval().generate(torch.randint(5, 90, (1, 4)), max_new_tokens=6, do_sample=False)",
    ),
    Picture(
        "SwinUNETR, of monai",
        "Windows that do not fit are padded, every other block is shifted.",
        "monai/networks/nets/swin_unetr.py",
        (
            "window_partition",
            "WindowAttention.forward",
            "SwinTransformerBlock.forward_part1",
            "PatchMerging.forward",
            "BasicLayer.forward",
            "SwinUNETR.forward",
        ),
        call=f"{SWIN}(torch.randn(1, 1, 64, 64, 64))",
    ),
    Picture(
        "The conditional U-Net, of diffusers",
        "One step of denoising.",
        "diffusers/models/unets/unet_2d_condition.py",
        ("UNet2DConditionModel.get_time_embed", "UNet2DConditionModel.forward"),
        call=f"{UNET}(torch.randn(1, 4, 16, 16), 10, torch.randn(1, 7, 32))",
    ),
)


def trace(picture: Picture, file: Path, python: str | None) -> str:
    """What the command prints."""
    arguments = ["trace", str(file), *picture.options, *(["--python", python] if python else [])]
    done = subprocess.run(
        [sys.executable, "-m", "torchlens_lsp", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TRACE_SECONDS,
    )
    if done.returncode != 0:
        raise SystemExit(f"{picture.title}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def select(output: str, source: str, names: tuple[str, ...]) -> str:
    """What is shown of the command's output for one file: the named definitions, notes, and the last line.

    `⋮` stands for what lies between. Other files that the run came through, which are printed after it, are left out.
    """
    *printed, summary = output.rstrip("\n").split("\n")
    length = len(source.rstrip().split("\n"))
    notes = [line for line in printed[length:] if line.startswith("note: ")]
    if not names:
        return "\n".join([*printed[:length], *notes, summary])
    wanted = {number for first, last in _spans(source, names) for number in range(first, last + 1)}
    chosen: list[str] = []
    for number, line in enumerate(printed[:length], start=1):
        if number in wanted:
            chosen.append(line)
        elif chosen and chosen[-1] != "⋮":
            chosen.append("⋮")
    return "\n".join([*chosen, *notes, summary])


def _spans(source: str, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """First and last line, from 1, of each named definition, of its decorators and of the class that it stands in."""
    for name in names:
        body, classes = ast.parse(source).body, []
        for part in name.split("."):
            found = next((node for node in body if getattr(node, "name", None) == part), None)
            if not isinstance(found, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                raise SystemExit(f"{name} is not in the file any more")
            classes.append(found)
            body = found.body
        *outer, node = classes
        yield from ((each.lineno, each.lineno) for each in outer)
        yield min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno


def fenced(picture: Picture, file: Path, python: str | None = None) -> str:
    """What the picture shows, as Markdown."""
    shown = select(trace(picture, file, python), file.read_text(encoding="utf-8"), picture.show)
    return f"```text\n{shown}\n```\n"


def chapter(picture: Picture, file: Path, python: str | None = None) -> str:
    """The page's text for one picture."""
    command = f"torchlens-lsp trace {picture.file}"
    if picture.example and picture.example != "default":
        command += f" --example {picture.example!r}"
    if picture.call:
        command += f" --call {picture.call!r}"
    return f"## {picture.title}\n\n{picture.text}\n\n```console\n$ {command}\n```\n\n{fenced(picture, file, python)}"


def site_packages(python: str) -> Path:
    """Where the interpreter's packages lie."""
    return Path(_ask(python, "import sysconfig; print(sysconfig.get_path('purelib'))"))


def with_version(picture: Picture, python: str) -> Picture:
    """The picture of an installed package's file, its text saying which version that is."""
    package = picture.file.partition("/")[0]
    version = _ask(python, f"from importlib.metadata import version; print(version({package!r}))")
    return replace(picture, text=f"{picture.text} Version {version}.")


def _ask(python: str, code: str) -> str:
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def page(corpus: str | None, before: str) -> str:
    """The whole page; what it had of the published models is kept where there is no interpreter for them."""
    chapters = [chapter(picture, ROOT / picture.file) for picture in EXAMPLES]
    if corpus:
        packages = site_packages(corpus)
        chapters += [chapter(with_version(picture, corpus), packages / picture.file, corpus) for picture in CORPUS]
    else:
        chapters += kept_chapters(before)
    return "\n".join([INTRODUCTION, *chapters])


def kept_chapters(before: str) -> Iterator[str]:
    """What the page has of the published models."""
    titles = {picture.title for picture in CORPUS}
    for text in before.split("\n## ")[1:]:
        if text.partition("\n")[0] in titles:
            yield "## " + text.rstrip("\n") + "\n"


def with_picture(readme: str, picture: str) -> str:
    """The README with its picture replaced."""
    before, begin, rest = readme.partition(PICTURE_BEGINS)
    _, end, after = rest.partition(PICTURE_ENDS)
    if not begin or not end:
        raise SystemExit("the README has no place for its picture")
    return before + begin + picture + end + after


def main() -> int:
    """Write the page and the README's picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", metavar="INTERPRETER")
    options = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    after = page(options.corpus, before)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(after, encoding="utf-8")
    picture = fenced(README_PICTURE, ROOT / README_PICTURE.file)
    README.write_text(with_picture(README.read_text(encoding="utf-8"), picture), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(after.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
