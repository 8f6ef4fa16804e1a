"""What the commands in this folder share. Standard library only, unless a module says otherwise."""
