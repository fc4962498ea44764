"""Grades the exercises of Layers from Scratch, and says which misconception an answer shows."""
