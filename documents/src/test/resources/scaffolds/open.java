/** With a Carillon that is open, in memory, and a shop's types of work. */
public final class CLASS {
  record Mail(String to, String text) {}

  record Order(String article, int count) {}

  record Receipt(String number) {}

  static final TaskType<Mail> SEND = TaskType.of("send-mail", Mail.class);
  static final TaskType<LocalDate> REPORT = TaskType.of("report", LocalDate.class);
  static final JobType<Order, Receipt> PLACE =
      JobType.of("place-order", Order.class, Receipt.class);
  static final IfExists REPLACE = IfExists.REPLACE;

  static Duration ofSeconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  public static void run() throws Exception {
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(SEND, (mail, job) -> {});
      carillon.handle(REPORT, (day, job) -> {});
      carillon.handle(PLACE, (order, job) -> new Receipt("1"));
      run(carillon);
    }
  }

  static void run(Carillon carillon) throws Exception {
    Mail mail = new Mail("you", "hello");
    Order request = new Order("bell", 1);
    String requestId = "r-1";
    LocalDate yesterday = LocalDate.of(2026, 1, 1);
    List<Job<?>> jobs = new ArrayList<>(List.of(SEND.job(mail), PLACE.job(request)));
    JobId id = carillon.schedule(SEND.job(mail).in(Duration.ofHours(1))).id();
    // SNIPPET
  }
}
