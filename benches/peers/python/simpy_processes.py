"""SimPy: a process for each client and a resource for the pool."""

import random
import sys

import simpy


class Fleet:
    def __init__(self, clients: int, backends: int, end: float) -> None:
        self.env = simpy.Environment()
        self.pool = simpy.Resource(self.env, capacity=backends)
        self.rng = random.Random(42)
        self.end = end
        self.polls = 0
        self.busy = 0.0
        for _ in range(clients):
            self.env.process(self.client())

    def client(self):
        yield self.env.timeout(self.rng.uniform(0, 30))
        while True:
            self.polls += 1
            with self.pool.request() as claim:
                yield claim
                service = self.rng.expovariate(1 / 0.170)
                self.busy += min(service, self.end - self.env.now)
                yield self.env.timeout(service)
            yield self.env.timeout(self.rng.uniform(15, 45))

    def run(self) -> None:
        self.env.run(until=self.end)
        print(self.polls, f"{self.busy / self.end:.6f}")


Fleet(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])).run()
