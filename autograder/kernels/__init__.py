"""What is right: the reference forward and backward passes, one module per layer.

Each public function validates its arguments and then calls a private compiled loop.
"""
