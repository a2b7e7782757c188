# SPDX-License-Identifier: MIT
"""OTLP's JSON, read by protobuf's strict parser with OpenTelemetry's own
definitions."""

import pytest

import lib_npm
from lib_formats import json_lines, save, strict_json
from lib_otlp import ParseError, as_json, receive

INTERNAL = 1  # SPAN_KIND_INTERNAL


@pytest.fixture(autouse=True)
def definitions_are_there():
    lib_npm.package("@opentelemetry/otlp-grpc-exporter-base")


def spans_of(message):
    for resource in message.resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


def attributes_of(span):
    return {a.key: a.value.string_value or a.value.int_value
            for a in span.attributes}


def test_a_collector_gets_each_call(hard_folder):
    message = receive(save(hard_folder, "t.otlp.json"))
    spans = list(spans_of(message))
    calls = {c["id"]: c for c in json_lines(hard_folder)}
    by_id = {span.span_id: span for span in spans}
    assert len(by_id) == len(spans) == len(calls)
    (trace_id,) = {span.trace_id for span in spans}
    assert len(trace_id) == 16 and any(trace_id)
    for span in spans:
        call = calls[attributes_of(span)["cstrace.id"]]
        assert span.name == call["function"]
        assert len(span.span_id) == 8 and any(span.span_id)
        assert span.kind == INTERNAL
        assert span.start_time_unix_nano <= span.end_time_unix_nano
        assert bool(span.parent_span_id) == (call["parent"] is not None)
        if span.parent_span_id:
            above = by_id[span.parent_span_id]
            assert attributes_of(above)["cstrace.id"] == call["parent"]
            assert above.start_time_unix_nano <= span.start_time_unix_nano
            assert span.end_time_unix_nano <= above.end_time_unix_nano


def test_is_as_protobuf_would_write_it(hard_folder):
    """Names in camel case, no defaults, long numbers as strings."""
    raw = save(hard_folder, "t.otlp.json")
    assert as_json(receive(raw)) == strict_json(raw)


def test_one_call_and_none(ended):
    raw = save(ended, "one.otlp", "--below", "1.3", "--depth", "1")
    (span,) = spans_of(receive(raw))
    assert not span.parent_span_id
    raw = save(ended, "none.otlp", "--filter", "nosuch",
               told="cstrace: no function matches 'nosuch'\n")
    assert not list(spans_of(receive(raw)))


@pytest.mark.parametrize("old, new", [
    ('"spanId"', '"spanID"'), ('"spans"', '"calls"'),
    ('"kind":1', '"kind":"internal"'), ('{"traceId"', '{"name":"","traceId"'),
    ('"startTimeUnixNano":"', '"startTimeUnixNano":"-'),
    ('"endTimeUnixNano":"', '"endTimeUnixNano":"9999999999'),
    ('"intValue":"', '"intValue":"1.5'), ('"traceId":"', '"traceId":"g'),
    ('"name":"', '"name":1,"was":"'), ("]}\n", "}\n")])
def test_refuses_what_is_wrong(ended, old, new):
    """Or else the others show nothing."""
    text = save(ended, "t.otlp.json").decode()
    assert old in text
    with pytest.raises((ParseError, ValueError)):
        receive(text.replace(old, new, 1).encode())
