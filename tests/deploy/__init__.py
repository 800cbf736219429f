"""What is shipped to run bcon-exporter with."""
