"""Moving jobs away from predicted failures (MODEL.md section 12): `Fars` comes after failures and predictors."""

__all__: list[str] = []
