from core.queue.port import Payload, Queue, UnknownTask, enqueue, queue, run, task, task_names

__all__ = ["Payload", "Queue", "UnknownTask", "enqueue", "queue", "run", "task", "task_names"]
