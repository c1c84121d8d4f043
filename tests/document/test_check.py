"""Every index that points to nothing and every circle is found, one by one."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import pytest
from hypothesis import given

from torchlens_lsp.document import check as checking
from torchlens_lsp.document.check import check
from torchlens_lsp.document.codec import DocumentError
from torchlens_lsp.document.model import NONE, Document, Module, Operand, RunError, Statement, Target
from torchlens_lsp.document.model import Test as Condition
from torchlens_lsp.document.values import CONTAINER, Container

from .sample import on_line, sample
from .strategies import documents
from .test_codec import SLOW_TO_MAKE

FAR = 99
"""Beyond every table of the sample."""
FAULTS: dict[str, Callable[[Document], object]] = {}


def fault(change: Callable[[Document], object]) -> Callable[[Document], object]:
    """Register a change that no document may have."""
    FAULTS[change.__name__] = change
    return change


def with_statement(document: Document, **details: object) -> None:
    """Add a statement to the sample's file."""
    statement = Statement("assign", on_line(4, 8, 26), (4, 26), 1)
    document.files[0].statements.append(statement._replace(**details))  # type: ignore[arg-type]


def with_container(document: Document, **details: object) -> None:
    """Add a container to the sample's values."""
    container = Container("list", "list", None, (0,), 1)
    document.values.containers.append(container._replace(**details))  # type: ignore[arg-type]
    document.values.append(CONTAINER, len(document.values.containers) - 1)


@fault
def status_of_no_run(document: Document) -> None:
    document.status = "fine"


@fault
def output_beyond_the_values(document: Document) -> None:
    document.output = FAR


@fault
def value_of_an_unknown_kind(document: Document) -> None:
    document.values.kind[0] = 3


@fault
def value_without_its_row(document: Document) -> None:
    document.values.ref[0] = FAR


@fault
def value_without_its_statistics(document: Document) -> None:
    document.values.stats[0] = FAR


@fault
def value_columns_of_different_lengths(document: Document) -> None:
    document.values.stats.pop()


@fault
def statistics_columns_of_different_lengths(document: Document) -> None:
    document.values.statistics.nan.pop()


@fault
def container_that_holds_itself(document: Document) -> None:
    with_container(document, items=(len(document.values),))


@fault
def container_of_unknown_kind(document: Document) -> None:
    with_container(document, kind="bag")


@fault
def dict_without_keys(document: Document) -> None:
    with_container(document, kind="dict")


@fault
def keys_without_items(document: Document) -> None:
    with_container(document, keys=("a", "b"))


@fault
def container_shorter_than_its_items(document: Document) -> None:
    with_container(document, length=0)


@fault
def containers_nested_without_end(document: Document) -> None:
    for _ in range(checking.MAX_VALUE_DEPTH + 1):
        with_container(document, items=(len(document.values) - 1,))


@fault
def few_containers_that_stand_for_endless_values(document: Document) -> None:
    for _ in range(30):
        last = len(document.values) - 1
        with_container(document, items=(last, last), length=2)


@fault
def sites_numbered_with_a_gap(document: Document) -> None:
    document.files[0].first_site = 1


@fault
def site_without_a_count(document: Document) -> None:
    document.counts.pop()


@fault
def negative_count(document: Document) -> None:
    document.counts[0] = -1


@fault
def site_of_an_unknown_role(document: Document) -> None:
    document.files[0].sites[0] = document.files[0].sites[0]._replace(role="guess")


@fault
def site_of_an_unknown_function(document: Document) -> None:
    document.files[0].sites[0] = document.files[0].sites[0]._replace(function=FAR)


@fault
def parameter_without_a_site(document: Document) -> None:
    document.files[0].functions[1] = document.files[0].functions[1]._replace(parameters=(FAR,))


@fault
def unknown_statement_that_did_not_run(document: Document) -> None:
    document.files[0].not_run.append(0)


@fault
def statement_of_an_unknown_function(document: Document) -> None:
    with_statement(document, function=FAR)


@fault
def statement_that_defines_an_unknown_function(document: Document) -> None:
    with_statement(document, defines=FAR)


@fault
def statement_that_is_its_own_parent(document: Document) -> None:
    with_statement(document, parent=1)
    with_statement(document, parent=0)


@fault
def statement_with_an_unknown_target(document: Document) -> None:
    with_statement(document, targets=(Target("x", FAR, (4, 9)),))


@fault
def statement_with_an_unknown_operand_deep_in_its_test(document: Document) -> None:
    compared = Condition(NONE, NONE, "<", (FAR, "0"), "x < 0")
    with_statement(document, test=Condition(NONE, NONE, "not", (compared,), "not x < 0"))


@fault
def call_of_an_unknown_file(document: Document) -> None:
    document.calls[0] = document.calls[0]._replace(file=1)


@fault
def call_of_an_unknown_function(document: Document) -> None:
    document.calls[0] = document.calls[0]._replace(function=FAR)


@fault
def call_of_an_unknown_phase(document: Document) -> None:
    document.calls[0] = document.calls[0]._replace(phase=3)


@fault
def call_from_an_unknown_site(document: Document) -> None:
    document.calls[0] = document.calls[0]._replace(site=FAR)


@fault
def call_that_ended_in_an_unknown_way(document: Document) -> None:
    document.calls[0] = document.calls[0]._replace(ended="somehow")


@fault
def calls_that_called_each_other(document: Document) -> None:
    document.calls[0] = document.calls[0]._replace(parent=1)
    document.calls[1] = document.calls[1]._replace(parent=0)


@fault
def evaluation_of_an_unknown_site(document: Document) -> None:
    document.evaluations.site[0] = FAR


@fault
def evaluation_of_no_site(document: Document) -> None:
    document.evaluations.site[0] = NONE


@fault
def evaluation_of_an_unknown_value(document: Document) -> None:
    document.evaluations.value[0] = FAR


@fault
def evaluation_in_an_unknown_call(document: Document) -> None:
    document.evaluations.call[0] = FAR


@fault
def evaluation_columns_of_different_lengths(document: Document) -> None:
    document.evaluations.call.pop()


@fault
def outcome_that_is_neither_true_nor_false(document: Document) -> None:
    document.branches.outcome[0] = 2


@fault
def outcome_after_the_last_evaluation(document: Document) -> None:
    document.branches.at[0] = 4


@fault
def loop_of_negative_turns(document: Document) -> None:
    document.loops.site = document.loops.call = document.loops.at = array("i", [0])
    document.loops.iterations = array("q", [-1])


@fault
def op_of_an_unknown_output(document: Document) -> None:
    document.ops[0] = document.ops[0]._replace(outputs=(FAR,))


@fault
def op_that_is_its_own_parent(document: Document) -> None:
    document.ops[0] = document.ops[0]._replace(parents=(0,))


@fault
def op_of_no_parent(document: Document) -> None:
    document.ops[1] = document.ops[1]._replace(parents=(NONE,))


@fault
def op_of_an_unknown_file(document: Document) -> None:
    document.ops[0] = document.ops[0]._replace(file=FAR)


@fault
def op_at_an_unknown_site(document: Document) -> None:
    document.ops[0] = document.ops[0]._replace(site=FAR)


@fault
def op_in_an_unknown_call(document: Document) -> None:
    document.ops[0] = document.ops[0]._replace(call=FAR)


@fault
def op_after_the_last_evaluation(document: Document) -> None:
    document.ops[0] = document.ops[0]._replace(at=4)


@fault
def module_made_nowhere(document: Document) -> None:
    document.modules.append(Module("", "Net", 1, 0, FAR))


@fault
def error_in_an_unknown_call(document: Document) -> None:
    document.error = RunError("call", "ValueError", "no", call=FAR)


@fault
def error_with_an_unknown_operand(document: Document) -> None:
    document.error = RunError("call", "ValueError", "no", operands=[Operand("x", FAR)])


@fault
def error_with_an_operand_at_an_unknown_site(document: Document) -> None:
    document.error = RunError("call", "ValueError", "no", operands=[Operand("x", 0, FAR)])


@pytest.mark.parametrize("name", FAULTS)
def test_it_is_found(name: str) -> None:
    document = sample()
    check(document)
    FAULTS[name](document)
    with pytest.raises(DocumentError):
        check(document)


@given(documents())
@SLOW_TO_MAKE
def test_nothing_is_found_where_nothing_is_wrong(document: Document) -> None:
    check(document)


def test_a_parent_may_come_later_in_the_list() -> None:
    document = sample()
    with_statement(document, parent=1)
    with_statement(document)
    check(document)
