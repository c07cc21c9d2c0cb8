"""What the doctor finds, in a region of the screen that stays while one looks around."""
