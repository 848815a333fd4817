"""What logs say, and what no sink ever says."""
