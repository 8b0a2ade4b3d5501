"""Python interfaces of compiled kernels that are useful on their own."""
