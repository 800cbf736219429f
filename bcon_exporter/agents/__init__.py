"""What AI agents are given: small answers in which words of containers never stand among ours."""
