"""Networks that others trained: onnxruntime is the judge of what they compute."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from robots.controllers.network import read_network, run_network
from robots.errors import InvalidFileError

onnxruntime = pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(0)
INPUTS = 7


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def normal(name, *shape):
    return constant(name, RNG.normal(size=shape).astype(np.float32))


def graph(nodes, constants, outputs, *, inputs=INPUTS):
    """A policy from the size of obs to that of y, or from and to the sizes of several by name."""
    sizes = (
        value if isinstance(value, dict) else {name: value}
        for value, name in ((inputs, "obs"), (outputs, "y"))
    )
    ends = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in end.items()]
        for end in sizes
    )
    made = helper.make_graph(
        [helper.make_node(kind, ins, outs, **attributes) for kind, ins, outs, attributes in nodes],
        "policy",
        *ends,
        constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model.SerializeToString()


def linear(name, source, target, inputs, outputs, **attributes):
    return ("Gemm", [source, f"{name}.w", f"{name}.b"], [target], attributes), [
        normal(f"{name}.w", *((outputs, inputs) if attributes.get("transB") else (inputs, outputs))),
        normal(f"{name}.b", outputs),
    ]


def activated(kind, **attributes):
    first, weights = linear("first", "obs", "h", INPUTS, 12)
    last, more = linear("last", "a", "y", 12, 3, transB=1)
    return graph([first, (kind, ["h"], ["a"], attributes), last], weights + more, 3)


def swish():
    first, weights = linear("first", "obs", "h", INPUTS, 12)
    return graph([first, ("Sigmoid", ["h"], ["s"], {}), ("Mul", ["h", "s"], ["y"], {})], weights, 12)


def normalised():
    """As exporters put it around a network: normalised and limited inputs, half of the outputs, squashed."""
    last, weights = linear("last", "c", "z", INPUTS, 6, alpha=0.5, beta=2.0)
    nodes = [
        ("Sub", ["obs", "mean"], ["s"], {}),
        ("Div", ["s", "std"], ["n"], {}),
        ("Clip", ["n", "low", "high"], ["c"], {}),
        last,
        ("Split", ["z"], ["loc", "scale"], {"axis": -1}),
        ("Tanh", ["loc"], ["t"], {}),
        ("Mul", ["t", "gain"], ["y"], {}),
    ]
    limits = [constant(name, np.float32(value)) for name, value in (("low", -1), ("high", 1.5), ("gain", 2))]
    spread = constant("std", RNG.uniform(0.5, 2, INPUTS).astype(np.float32))
    return graph(nodes, [*weights, *limits, spread, normal("mean", INPUTS)], 3)


def other_side():
    """Constants on the left, and products without a bias."""
    nodes = [
        ("Mul", ["two", "obs"], ["s"], {}),
        ("MatMul", ["s", "w"], ["m"], {}),
        ("Add", ["b", "m"], ["y"], {}),
    ]
    return graph(nodes, [constant("two", np.float32(2)), normal("w", 7, 8), normal("b", 8)], 8)


READ = {
    **{kind: activated(kind) for kind in ("Relu", "Tanh", "Sigmoid", "Elu")},
    "Elu, alpha 0.3": activated("Elu", alpha=0.3),
    "LeakyRelu": activated("LeakyRelu", alpha=0.2),
    "swish": swish(),
    "normalised": normalised(),
    "the other side": other_side(),
}


@pytest.mark.parametrize("name", READ)
def test_networks_do_what_onnxruntime_does(name):
    session = onnxruntime.InferenceSession(READ[name])
    network = read_network(READ[name], "policy.onnx")
    program, constants, _ = network.program()
    front, back = np.zeros((2, network.width), np.float32)
    for size in (0.1, 1.0, 10.0):
        seen = (size * RNG.normal(size=INPUTS)).astype(np.float32)
        front[:INPUTS] = seen
        run_network(program, len(program) // 4, constants, front, back)
        expected = session.run(None, {"obs": seen[None]})[0][0]
        np.testing.assert_allclose(front[: network.outputs], expected, rtol=2e-5, atol=2e-5)


def test_what_is_no_feed_forward_network_is_refused_with_its_step():
    last, weights = linear("last", "obs", "h", INPUTS, 4)
    one, single = linear("one", "obs", "h", INPUTS, 1)
    weights += single
    for nodes, said in (
        ([last, ("Softmax", ["h"], ["y"], {})], "the step Softmax"),
        ([last, ("Mul", ["h", "h"], ["y"], {})], "two parts that both depend on the observation"),
        ([one, ("Expand", ["h"], ["y"], {})], "the step Expand"),
        ([last, ("Shape", ["obs"], ["s"], {}), ("Expand", ["last.b", "s"], ["y"], {})], "the step Shape"),
        ([last, ("Clip", ["h", "last.b"], ["y"], {})], "the step Clip"),
        ([last, ("Split", ["h"], ["a", "b"], {"axis": 0}), ("Tanh", ["a"], ["y"], {})], "splits something"),
        (
            [last, ("Identity", ["last.b"], ["b"], {}), ("Add", ["h", "b"], ["y"], {})],
            "Identity on constants",
        ),
    ):
        with pytest.raises(InvalidFileError, match=said):
            read_network(graph(nodes, weights, 4), "policy.onnx")
    unused = [last, ("Softmax", ["h"], ["other"], {}), ("Tanh", ["h"], ["y"], {})]
    assert read_network(graph(unused, weights, 4), "policy.onnx").outputs == 4


def test_files_that_hold_no_policy_are_refused():
    external = onnx.load_model_from_string(READ["Relu"])
    external.graph.initializer[0].data_location = TensorProto.EXTERNAL
    wide = onnx.load_model_from_string(READ["Relu"])
    wide.graph.initializer[0].dims[0] = 5
    two = onnx.load_model_from_string(READ["Relu"])
    two.graph.input.append(helper.make_tensor_value_info("memory", TensorProto.FLOAT, [1, 4]))
    for content in (b"", b"no ONNX", bytes(1000), *(m.SerializeToString() for m in (external, wide, two))):
        with pytest.raises(InvalidFileError):
            read_network(content, "policy.onnx")
