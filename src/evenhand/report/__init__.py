"""Everything that turns an audit or a comparison (as plain dictionaries) into something a person sees.

Each part takes the dictionary of `Audit.to_dict()` or `Comparison.to_dict()`, never the object, so that a
result that was saved as JSON last year renders in the same way as one that was computed a moment ago:

- `evenhand.report.audit.render`, `evenhand.report.comparison.render`, `evenhand.report.study.render`: one
  self-contained HTML file; `evenhand.report.study_files.write_study_report`: a whole folder;
- `evenhand.report.model_card.render`: a Markdown section for a model card;
- `evenhand.report.verdict.audit_sentences`, `comparison_sentences`: the finding in plain words;
- `evenhand.report.figures`: SVG figures, pure functions; `evenhand.report.png.to_png` makes bitmaps of them.
"""
