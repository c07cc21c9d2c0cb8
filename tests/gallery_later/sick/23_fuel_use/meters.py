class Smoothed:
    def __init__(self, keep):
        self.keep = keep
        self.value = None

    def update(self, new):
        if self.value is None:
            self.value = new
        else:
            self.value = self.keep * self.value + (1 - self.keep) * new
