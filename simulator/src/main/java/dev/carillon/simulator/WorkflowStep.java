package dev.carillon.simulator;

/** A try of a step whose body begins. */
record WorkflowStep(String name, int attempt, String key, boolean isOnce, boolean isUndo) {}
