"""What happens to a job that a failure kills (MODEL.md section 9): `Requeue` and `Hold` come with failures."""

__all__: list[str] = []
