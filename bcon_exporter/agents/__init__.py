"""What AI agents are given: lists of tools, and small answers in which words of containers never stand among ours."""
