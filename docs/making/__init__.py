"""What the documentation is made with: the reference written from the catalogues, maths, a check for outside loads."""
