print("nothing to manage")
