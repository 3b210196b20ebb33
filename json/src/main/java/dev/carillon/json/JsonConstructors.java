package dev.carillon.json;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.ValueInstantiators;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.introspect.AnnotatedConstructor;

/**
 * Has Jackson call constructors with arguments, those of records above all, by a handle that was
 * made once. Its own way adapts the handle to the arguments anew at each call, which is a quarter
 * of the time that reading a small payload takes.
 */
final class JsonConstructors implements ValueInstantiators {

  @Override
  public @Nullable ValueInstantiator findValueInstantiator(
      DeserializationConfig config, BeanDescription.Supplier type) {
    return null;
  }

  @Override
  public ValueInstantiator modifyValueInstantiator(
      DeserializationConfig config, BeanDescription.Supplier type, ValueInstantiator given) {
    boolean plain = given.getClass() == StdValueInstantiator.class;
    return plain && given.getWithArgsCreator() instanceof AnnotatedConstructor constructor
        ? new ByHandle((StdValueInstantiator) given, constructor)
        : given;
  }

  private static final class ByHandle extends StdValueInstantiator {
    private final AnnotatedConstructor constructor;
    private volatile @Nullable MethodHandle handle;

    ByHandle(StdValueInstantiator given, AnnotatedConstructor constructor) {
      super(given);
      this.constructor = constructor;
    }

    @Override
    public Object createFromObjectWith(DeserializationContext context, Object[] arguments) {
      MethodHandle known = handle;
      if (known == null) {
        known = make();
        handle = known;
        if (known == null) {
          return super.createFromObjectWith(context, arguments);
        }
      }
      try {
        return (Object) known.invokeExact(arguments);
      } catch (Exception e) {
        return context.handleInstantiationProblem(
            getValueClass(), arguments, rewrapCtorProblem(context, e));
      } catch (Throwable e) {
        throw (Error) e;
      }
    }

    /** By now Jackson has made the constructor accessible, if it may; null where it may not. */
    private @Nullable MethodHandle make() {
      try {
        return MethodHandles.lookup()
            .unreflectConstructor(constructor.getAnnotated())
            .asFixedArity()
            .asSpreader(Object[].class, constructor.getParameterCount())
            .asType(MethodType.methodType(Object.class, Object[].class));
      } catch (IllegalAccessException e) {
        return null;
      }
    }
  }
}
