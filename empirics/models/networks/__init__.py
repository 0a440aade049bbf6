"""The networks of the papers by name, with exactly their numbers of parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from bounds.errors import unknown

from ..losses import LOSSES
from ..network import Network
from .blocks import Architecture, PRECISIONS
from .decoder import Opt
from .generator import Generator
from .residual import ResNet18, ResNet20
from .sequential import DecayingKCnn, FedCogCifar100Cnn, FedCogCnn, FemnistDnn, Sent140Linear, ShakespeareGru, Vgg11

NETWORKS: dict[str, Callable[..., Architecture]] = {
    "decaying_k_cnn": DecayingKCnn,
    "fedcog_cifar100_cnn": FedCogCifar100Cnn,
    "fedcog_cnn": FedCogCnn,
    "femnist_dnn": FemnistDnn,
    "opt": Opt,
    "resnet18": ResNet18,
    "resnet20": ResNet20,
    "sent140_linear": Sent140Linear,
    "shakespeare_gru": ShakespeareGru,
    "vgg11": Vgg11,
}


def network(text: str, **options: Any) -> Network:
    """Return the network that ``text`` describes, such as ``resnet20(shortcut='pad', classes=100)``.

    ``options`` override those in the text. The network's ``name`` is the canonical call with all options.
    """
    # Imported here because algorithms may use networks (FedCOG's generator).
    from ...spec_strings import parse, spec_string

    architecture = parse(text, NETWORKS, "network")
    name = next(name for name, builder in NETWORKS.items() if builder is type(architecture))
    known = [option.name for option in fields(architecture)]
    for option in options:
        if option not in known:
            raise unknown(f"option of {name}", option, known)
    architecture = replace(architecture, **options)
    return Network(
        spec_string(name, **{option.name: getattr(architecture, option.name) for option in fields(architecture)}),
        architecture,
        LOSSES[architecture.loss],
        dtype=PRECISIONS[architecture.precision],
        input_shape=architecture.input_shape,
        extractor=architecture.extractor,
        begins=architecture.begins,
        statistics=getattr(architecture, "statistics", "averaged"),
    )


__all__ = ["NETWORKS", "Architecture", "Generator", "Network", "network"]
