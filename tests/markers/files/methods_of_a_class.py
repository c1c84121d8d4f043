"""Class methods and static methods are told; `self` and `cls` are not."""

import torch


class Grid:
    def __init__(self, points):
    #   ^ hint points f32[3, 3]
        self.points = points
        #             ^ hint [3, 3]

    @classmethod
    def of(cls, line):
    #   ^ hint line f32[3]
        return cls(cls.outer(line, line))
        #      ^ hint .points [3, 3]

    @staticmethod
    def outer(a, b):
    #   ^ hint a f32[3], b f32[3]
        return a[:, None] * b
        #      ^ hint [3, 3]

    def __call__(self, x):
    #   ^ hint x f32[2, 3]
        return x @ self.points
        #      ^ hint [2, 3]


# torchlens: run(torch.ones(2, 3))
def run(x):
#   ^ hint x f32[2, 3]
    grid = Grid.of(x[0])
    #      ^ hint .points [3, 3]
    return grid(x)
    #      ^ hint [2, 3]
