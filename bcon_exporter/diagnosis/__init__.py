"""Pure diagnosis: facts in, symptoms, causes and suggestions out."""
