package dev.carillon.replay;

import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepOptions;
import java.lang.reflect.Type;

/** A call of a step, or a compensation, with what it does. */
record StepCall(int number, String name, Type type, StepOptions options, StepBody<?> body) {}
