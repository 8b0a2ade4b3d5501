"""`Lowered`: the plain form of a policy, a machine or a run, which engines read and provenance keeps."""

from typing import Any, TypeAlias

#: The ``name``, and the parameters by name: numbers, text, or plain forms.
Lowered: TypeAlias = dict[str, Any]
