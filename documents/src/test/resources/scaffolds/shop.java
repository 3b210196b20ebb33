import dev.carillon.testkit.*;

/** With a world whose clock stands still, and a shop whose orders are workflows. */
public final class CLASS {
  record Order(String id, int cents, List<String> lines) {}

  record Payment(String id) {}

  record Approval(String by) {}

  record Receipt(String payment, String approvedBy, List<String> parcels) {}

  static final class CardDeclined extends NotRetryableException {
    CardDeclined() {
      super("card declined");
    }
  }

  /** Says what it does. */
  static final class Stock {
    void reserve(String order) {
      System.out.println("reserve " + order);
    }

    void release(String order) {
      System.out.println("release " + order);
    }
  }

  /** Says what it does; takes at most 10,000 cents. */
  static final class Bank {
    Payment charge(int cents, String key) {
      if (cents > 10_000) {
        throw new CardDeclined();
      }
      System.out.println("charge " + cents);
      return new Payment("p-1");
    }
  }

  /** Says what it sends. */
  static final class Mail {
    void send(String text) {
      System.out.println("mail: " + text);
    }
  }

  /** The code of the first example. */
  static final class Orders {
    Receipt place(Order order, Workflow wf) {
      wf.onFailure("release", () -> stock.release(order.id()));
      wf.step("reserve", () -> stock.reserve(order.id()));
      Payment paid =
          wf.step("charge", Payment.class, step -> bank.charge(order.cents(), step.key()));
      Approval approval =
          wf.await(APPROVAL, Duration.ofDays(7))
              .orElseThrow(() -> new NotRetryableException("nobody approved the order"));
      List<Child<String>> parcels =
          order.lines().stream().map(line -> wf.start(SHIP.job(line))).toList();
      return new Receipt(paid.id(), approval.by(), wf.all(parcels));
    }
  }

  static final JobType<Order, Receipt> PLACE =
      JobType.of("place-order", Order.class, Receipt.class);
  static final JobType<String, String> SHIP = JobType.of("ship", String.class, String.class);
  static final TaskType<String> INVOICE = TaskType.of("invoice", String.class);
  static final TaskType<Integer> WATCH = TaskType.of("watch-stock", Integer.class);
  static final SignalType<Approval> APPROVAL = SignalType.of("approval", Approval.class);
  static final Stock stock = new Stock();
  static final Bank bank = new Bank();
  static final Mail mail = new Mail();
  static final Orders orders = new Orders();
  static final Order ordered = new Order("42", 1200, List.of("bell", "rope"));

  public static void run() throws Exception {
    try (var world = CarillonTest.at("2026-03-01T09:00:00Z")) {
      Carillon carillon = world.carillon();
      carillon.handle(SHIP, (line, job) -> "parcel of " + line);
      // SNIPPET
    }
  }
}
