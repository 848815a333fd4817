"""The doors of a house: API, gateway and pages over the same agents, the same turns and the same record."""
