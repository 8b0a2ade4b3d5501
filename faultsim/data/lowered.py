"""`Lowered`, which engines read, and `EngineOutput`, which they give."""

from collections.abc import Mapping
from typing import Any, TypeAlias

#: The plain form of a policy, a machine or a run, which provenance keeps.
#: The ``name``, and the parameters by name: numbers, text, or plain forms.
Lowered: TypeAlias = dict[str, Any]
#: Columns of the jobs, counters, the ledger, and the tables of a run that was recorded, by name.
EngineOutput: TypeAlias = Mapping[str, Any]
