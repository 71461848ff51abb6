"""The loop that one would write by hand in Python: a heap of (time, client, whether it is done)."""

import heapq
import random
import sys
from collections import deque


def main(clients: int, backends: int, end: float) -> None:
    rng = random.Random(42)
    polls, busy = 0, 0.0
    free, waiting = backends, deque()
    heap = [(rng.uniform(0, 30), client, False) for client in range(clients)]
    heapq.heapify(heap)

    while heap:
        now, client, done = heapq.heappop(heap)
        if now >= end:
            break
        if done:
            heapq.heappush(heap, (now + rng.uniform(15, 45), client, False))
            if not waiting:
                free += 1
                continue
            client = waiting.popleft()
        else:
            polls += 1
            if free == 0:
                waiting.append(client)
                continue
            free -= 1
        service = rng.expovariate(1 / 0.170)
        busy += min(service, end - now)
        heapq.heappush(heap, (now + service, client, True))

    print(polls, f"{busy / end:.6f}")


main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
