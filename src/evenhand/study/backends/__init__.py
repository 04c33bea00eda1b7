"""Where buckets are worked on: processes of this machine, or a Ray cluster; one contract for all."""
