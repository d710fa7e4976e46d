"""Pertinent beside other libraries, with the same chunks, vectors and queries.

Each peer is a script that runs in an environment of its own and knows nothing of Pertinent. `protocol` says
what it reads and writes, `tasks` makes what it reads, `environments` installs it, `scoring` judges what it
writes, and `report` makes the tables and the plot. `benchmarks/comparing.py` is the command.
"""
