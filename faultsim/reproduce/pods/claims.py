"""All claims of the study in the order of the table, and what the letters of their settings stand for."""

from faultsim.reproduce.pods import published_claims, record_claims, table_claims

CLAIMS = [*table_claims.CLAIMS, *published_claims.CLAIMS, *record_claims.CLAIMS]
SETTINGS = {**table_claims.SETTINGS, **published_claims.SETTINGS, **record_claims.SETTINGS}
