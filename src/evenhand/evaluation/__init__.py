"""From counts and scores to an audit or a comparison: values, who decided them, and how sure they are."""
