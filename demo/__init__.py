"""The story that `script/demo` tells: one messy spreadsheet becomes a running campaign, and a proof."""
