"""Problems map solutions to objectives and measures; `problem` is the contract, `catalogue` the table."""
