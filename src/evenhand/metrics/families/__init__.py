"""The rows of the catalogue, by the paper that defines them."""
