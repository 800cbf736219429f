"""The signature catalogue proves itself."""
