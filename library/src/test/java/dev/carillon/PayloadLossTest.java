package dev.carillon;

import static dev.carillon.Types.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.json.JacksonCodec;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/** A payload that would not come back as it was is refused before anything is stored. */
@Timeout(60)
class PayloadLossTest {
  private final Carillon carillon = Carillon.builder().inMemory().daemon(true).open();

  @AfterEach
  void close() {
    carillon.close();
  }

  /** As programs have them before they meet a serializer. */
  static final class Account {
    private final String owner;
    private final int balance;

    Account(String owner, int balance) {
      this.owner = owner;
      this.balance = balance;
    }

    boolean isRich() {
      return balance > owner.length();
    }
  }

  record Transfer(Account from, int amount) {}

  interface Shape {
    int getRadius();
  }

  record Circle(int radius) implements Shape {
    @Override
    public int getRadius() {
      return radius;
    }
  }

  /** Its getter says something else than its constructor takes. */
  static final class Masked {
    private final String card;

    Masked(@JsonProperty("card") String card) {
      this.card = card;
    }

    public String getCard() {
      return "****" + card;
    }
  }

  record Masks(int count, List<Masked> cards) {}

  record Nothing() {}

  static final class Marker {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Sparse(@Nullable String text) {}

  record Tags(Set<String> tags) {}

  static final class TagBean {
    public Set<String> tags = new HashSet<>();
  }

  record Refused(String name, TypeToken<?> type, Object value, String message) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static String typed(Class<?> type, String rest) {
    return "payload of type " + type.getName() + ": " + rest;
  }

  static List<Refused> refusals() {
    Account account = new Account("ann", 5);
    String hidden =
        "not writable as JSON: class "
            + Account.class.getName()
            + ": none of its fields is written (expected: a record, a class with getters, public"
            + " fields or annotations, or one without fields)";
    return List.of(
        new Refused(
            "private fields", TypeToken.of(Account.class), account, typed(Account.class, hidden)),
        new Refused(
            "private fields inside",
            TypeToken.of(Transfer.class),
            new Transfer(account, 1),
            typed(Transfer.class, hidden)),
        new Refused(
            "a thread",
            TypeToken.of(Thread.class),
            Thread.currentThread(),
            "payload of type java.lang.Thread: "),
        new Refused(
            "an interface",
            TypeToken.of(Shape.class),
            new Circle(1),
            typed(Shape.class, "written, but not readable (expected: a type that is both); ")),
        new Refused(
            "a field that changes",
            TypeToken.of(Masks.class),
            new Masks(1, List.of(new Masked("1234"))),
            typed(
                Masks.class,
                "field cards[0].card: changed when read back (expected: a type whose values are"
                    + " read as they were written)")),
        new Refused(
            "a number of an unknown type",
            new TypeToken<Map<String, Object>>() {},
            Map.of("price", new BigDecimal("1.123456789012345678901234567890")),
            ": field price: changed when read back"));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void inputThatIsNotKeptIsRefusedWhenItIsScheduled(Refused refused) {
    @SuppressWarnings("unchecked") // as wide as any program may have it
    TaskType<Object> type = TaskType.of("refused", (TypeToken<Object>) refused.type());

    assertThatThrownBy(() -> carillon.schedule(type.job(refused.value())))
        .isInstanceOf(CodecException.class)
        .hasMessageContaining(refused.message())
        .hasMessageNotContaining("1234");
    assertThatThrownBy(() -> carillon.schedule(type.job(refused.value())))
        .as("again")
        .isInstanceOf(CodecException.class);
    assertThat(carillon.list(JobQuery.all()).items()).isEmpty();
  }

  @Test
  void honestlyEmptyInputsAndSetsInAnyOrderAreKept() {
    Payloads payloads = new Payloads(new JacksonCodec(), List.of());
    Set<String> many = Set.copyOf(IntStream.range(0, 100).mapToObj(i -> "tag" + i).toList());
    TagBean bean = new TagBean();
    bean.tags = many;
    for (Object value :
        List.of(new Nothing(), new Marker(), Map.of(), new Sparse(null), new Tags(many), bean)) {
      assertThat(payloads.encodeInput(value, value instanceof Map ? Map.class : value.getClass()))
          .as("%s", value)
          .isNotEmpty();
    }
  }

  @Test
  void mapperOfTheUsersOwnMayNotLoseEverythingEither() {
    Payloads payloads = new Payloads(new JacksonCodec(JsonMapper.builder().build()), List.of());
    assertThatThrownBy(() -> payloads.encodeInput(new Account("ann", 5), Account.class))
        .isInstanceOf(CodecException.class)
        .hasMessageContaining("class " + Account.class.getName());
    Object lambda = (Runnable) () -> {};
    assertThatThrownBy(() -> payloads.encode(lambda, Object.class))
        .isInstanceOf(CodecException.class)
        .hasMessageContaining("none of its fields is written");
  }

  @Test
  void resultOfWhichNothingIsKeptEndsTheJobWithItsEvidence() {
    JobType<String, Account> type = JobType.of("account", String.class, Account.class);
    carillon.handle(type, (name, job) -> new Account(name, 1));
    JobHandle<Account> handle = carillon.schedule(type.job("ann"));

    assertThatThrownBy(() -> handle.result(LONG))
        .isInstanceOfSatisfying(
            JobFailedException.class,
            e -> {
              assertThat(e.state()).isEqualTo(JobState.DEAD);
              assertThat(e.error().type()).isEqualTo(CodecException.class.getName());
              assertThat(e.error().message()).contains("none of its fields is written");
            });
    assertThat(handle.info().attempt()).isEqualTo(1);
  }

  @Test
  void onlyTheFirstValueOfAClassIsReadBack() {
    AtomicInteger reads = new AtomicInteger();
    PayloadCodec counting =
        new PayloadCodec() {
          private final PayloadCodec json = new JacksonCodec();

          @Override
          public String name() {
            return json.name();
          }

          @Override
          public byte[] encode(@Nullable Object value, Type type) {
            return json.encode(value, type);
          }

          @Override
          public @Nullable Object decode(byte[] bytes, Type type) {
            reads.incrementAndGet();
            return json.decode(bytes, type);
          }
        };
    Payloads payloads = new Payloads(counting, List.of());
    for (int i = 0; i < 10; i++) {
      payloads.encodeInput(new Circle(i), Circle.class);
      payloads.encodeInput("text " + i, String.class);
      payloads.encode(i, Integer.class);
    }
    assertThat(reads).hasValue(2);
  }
}
