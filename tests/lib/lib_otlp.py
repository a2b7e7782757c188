# SPDX-License-Identifier: MIT
"""Reads OTLP's JSON by protobuf's own strict parser, with the definitions
that OpenTelemetry publishes."""

import base64
import functools
import re
import subprocess

from google.protobuf import descriptor_pb2, descriptor_pool, json_format
from google.protobuf import message_factory
from google.protobuf.json_format import ParseError

from lib_build import folder
from lib_npm import package

__all__ = ["ParseError", "as_json", "receive"]

_PROTOS = "@opentelemetry/otlp-grpc-exporter-base"
_SERVICE = "opentelemetry/proto/collector/trace/v1/trace_service.proto"
_IDS = ("traceId", "spanId", "parentSpanId")
_REQUEST = "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest"


@functools.lru_cache(maxsize=None)
def _request_class():
    protos = package(_PROTOS) / "build" / "protos"
    out = folder() / "otlp.pb"
    subprocess.run(["protoc", "-I", protos, "--include_imports",
                    "--descriptor_set_out", out, _SERVICE], check=True,
                   timeout=240)
    files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName(_REQUEST))


def _base64(match):
    """OTLP has IDs in hex, where protobuf's JSON has all bytes so."""
    raw = bytes.fromhex(match.group(2))
    return '"%s":"%s"' % (match.group(1), base64.b64encode(raw).decode())


def receive(raw):
    """The message that a collector's receiver would get; raises ParseError
    or ValueError."""
    text = re.sub('"(%s)":"([^"]*)"' % "|".join(_IDS), _base64,
                  raw.decode("utf-8"))
    return json_format.Parse(text, _request_class()())


def _hex(value):
    if isinstance(value, list):
        return [_hex(v) for v in value]
    if not isinstance(value, dict):
        return value
    return {k: base64.b64decode(v).hex() if k in _IDS else _hex(v)
            for k, v in value.items()}


def as_json(message):
    """What protobuf makes of it, with OTLP's IDs."""
    return _hex(json_format.MessageToDict(message,
                                          use_integers_for_enums=True))
