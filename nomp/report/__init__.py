"""What is made of measurements: records of a run, tables, traces, pictures.  Plain data in, text out."""
