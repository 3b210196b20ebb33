package dev.carillon.cli;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.JavaModifier.SYNCHRONIZED;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.Predefined;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.elements.ClassesShould;
import com.tngtech.archunit.lang.syntax.elements.GivenClassesConjunction;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassReader;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.MethodVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Opcodes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.time.ZoneId;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The direction of the modules, and what the engine must not touch. It stands in this module
 * because the command line's tests see all others. The rules read the class files of main code
 * only.
 */
class ArchitectureTest {
  private static final String API = "dev.carillon.api..";
  private static final String STORE = "dev.carillon.store";
  private static final String ENGINE = "dev.carillon.engine..";
  private static final String STORE_SQL = "dev.carillon.store.sql";
  private static final String STORE_JDBC = "dev.carillon.store.jdbc";
  private static final String STORE_POSTGRES = "dev.carillon.store.postgres";
  private static final String FIXTURE = "dev.carillon.fixture";
  private static final String LIBRARY = "dev.carillon";
  private static final String JSON = "dev.carillon.json";
  private static final String GATEWAY = "dev.carillon.gateway";
  private static final String REPLAY = "dev.carillon.replay";
  private static final String TESTKIT = "dev.carillon.testkit";
  private static final String MICROMETER = "dev.carillon.micrometer";
  private static final String PROTOCOL = "dev.carillon.protocol";
  private static final String WORKER = "dev.carillon.worker";
  private static final String SERVER = "dev.carillon.server..";
  private static final String SIMULATOR = "dev.carillon.simulator";
  private static final String PROVE = "dev.carillon.prove";
  private static final String BENCH = "dev.carillon.bench";
  private static final String CLI = "dev.carillon.cli..";

  /** All that runs in a simulated world. */
  private static final DescribedPredicate<JavaClass> SIMULATED =
      resideInAnyPackage(ENGINE, SIMULATOR + "..")
          .or(nameMatching(STORE + "\\.Memory(Store|Journals|Records).*"));

  private static final JavaClasses MAIN_CLASSES =
      new ClassFileImporter()
          .withImportOption(Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(Predefined.DO_NOT_INCLUDE_PACKAGE_INFOS)
          .importPackages(LIBRARY);

  @TestFactory
  Stream<DynamicTest> modulesDependOnlyOnThoseTheyMay() {
    return tests(
        onlyTheJdkAnd(API, "org.jspecify.."),
        onlyTheJdkAnd(STORE, API, "org.jspecify..", "javax.sql.."),
        onlyTheJdkAnd(ENGINE, API, STORE, "org.jspecify.."),
        onlyTheJdkAnd(STORE_SQL, STORE, "org.jspecify.."),
        noModuleBut(STORE_JDBC, API, STORE, STORE_SQL),
        noModuleBut(STORE_POSTGRES, API, STORE, STORE_SQL),
        noModuleBut(FIXTURE),
        noModuleBut(REPLAY, API, ENGINE),
        noModuleBut(JSON, API),
        noModuleBut(PROTOCOL),
        noModuleBut(WORKER, API, JSON, PROTOCOL),
        noModuleBut(GATEWAY, API, LIBRARY),
        noModuleBut(LIBRARY, API, STORE, ENGINE, STORE_JDBC, REPLAY, JSON, GATEWAY),
        noModuleBut(TESTKIT, API, STORE, ENGINE, STORE_JDBC, LIBRARY, REPLAY, JSON),
        noModuleBut(SIMULATOR, API, STORE, ENGINE, REPLAY),
        noModuleBut(
            PROVE,
            API,
            STORE,
            ENGINE,
            STORE_JDBC,
            STORE_POSTGRES,
            FIXTURE,
            LIBRARY,
            SERVER,
            WORKER),
        noModuleBut(
            BENCH,
            API,
            STORE,
            ENGINE,
            STORE_JDBC,
            STORE_POSTGRES,
            FIXTURE,
            LIBRARY,
            GATEWAY,
            SERVER,
            WORKER,
            JSON),
        noModuleBut(SERVER, API, LIBRARY, GATEWAY, MICROMETER, JSON, PROTOCOL),
        noModuleBut(CLI, API, STORE, ENGINE, STORE_JDBC, LIBRARY, SERVER),
        classes()
            .should()
            .resideInAnyPackage(
                API,
                STORE,
                ENGINE,
                STORE_SQL,
                STORE_JDBC,
                STORE_POSTGRES,
                FIXTURE,
                LIBRARY,
                GATEWAY,
                REPLAY,
                JSON,
                TESTKIT,
                MICROMETER,
                PROTOCOL,
                WORKER,
                SERVER,
                SIMULATOR,
                PROVE,
                BENCH,
                CLI)
            .because("other packages would escape these rules"));
  }

  @TestFactory
  Stream<DynamicTest> librariesStayWhereTheyBelong() {
    return tests(
        noClasses()
            .that()
            .resideOutsideOfPackages(JSON, TESTKIT, SERVER, PROVE, BENCH, CLI)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("tools.jackson..", "com.fasterxml.jackson..")
            .because("JSON is one codec of the library, not a need of the core"),
        noClasses()
            .that()
            .resideInAnyPackage(ENGINE, SIMULATOR)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..", "org.sqlite..", "org.postgresql..")
            .because("the core knows no database"),
        noClasses()
            .that()
            .resideInAPackage(STORE)
            .should()
            .dependOnClassesThat(
                resideInAnyPackage("java.sql..", "javax.sql..", "org.sqlite..", "org.postgresql..")
                    .and(not(type(DataSource.class)))
                    .and(not(type(Connection.class))))
            .because("the contract hands through what users have, and no more"),
        noClasses()
            .that()
            .resideOutsideOfPackage(FIXTURE)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.zonky..")
            .because("one module starts servers"),
        noClasses()
            .that()
            .resideOutsideOfPackages(STORE_POSTGRES, BENCH)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.postgresql..")
            .because("one module speaks to PostgreSQL"),
        noClasses()
            .that()
            .resideOutsideOfPackages(STORE_POSTGRES, BENCH, PROVE)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.zaxxer.hikari..")
            .because(
                "its pools are recognised, given to peers, and shared with handlers in a proof"),
        noClasses()
            .that()
            .resideOutsideOfPackages(CLI, SIMULATOR, PROVE, BENCH)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("picocli..")
            .because("only commands parse a command line"),
        noClasses()
            .that()
            .resideOutsideOfPackage(BENCH)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("com.cronutils..", "org.quartz..", "org.springframework..")
            .because("they are there to be compared with"),
        noClasses()
            .that()
            .resideOutsideOfPackage("dev.carillon.server.http")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.eclipse.jetty..")
            .because("one room listens"),
        noClasses()
            .that()
            .resideOutsideOfPackages(PROTOCOL, WORKER, "dev.carillon.server.gateway")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.grpc..", "com.google.protobuf..")
            .because("workers and their listener speak gRPC, nobody else"),
        noClasses()
            .that()
            .resideOutsideOfPackage("dev.carillon.server.login")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("com.nimbusds..")
            .because("one room speaks to providers"));
  }

  /** As the page of dev.carillon.server lists them. */
  @TestFactory
  Stream<DynamicTest> roomsOfTheServerUseOnlyThoseBeforeThem() {
    List<String> rooms =
        Stream.of("access", "json", "http", "gateway", "webhook", "jobs", "operate", "login")
            .map(room -> "dev.carillon.server." + room)
            .toList();
    return tests(
        IntStream.range(0, rooms.size())
            .mapToObj(
                i ->
                    noClasses()
                        .that()
                        .resideInAPackage(rooms.get(i))
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(
                            Stream.concat(
                                    Stream.of("dev.carillon.server"),
                                    rooms.subList(i + 1, rooms.size()).stream())
                                .toArray(String[]::new)))
            .toArray(ArchRule[]::new));
  }

  /** Texts and times know no server; finding one knows no command. */
  @TestFactory
  Stream<DynamicTest> roomsOfTheCommandLineUseOnlyThoseBeforeThem() {
    return tests(
        noClasses()
            .that()
            .resideInAPackage("dev.carillon.cli.text")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.carillon.cli.client", "dev.carillon.cli.remote"),
        noClasses()
            .that()
            .resideInAPackage("dev.carillon.cli.client")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.carillon.cli.remote"),
        noClasses()
            .that()
            .resideInAPackage("dev.carillon.cli.*")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.carillon.cli"));
  }

  @TestFactory
  Stream<DynamicTest> engineIsToldTheTimeAndDrawsNoLots() {
    return tests(
        engineNever()
            .accessTargetWhere(describe("it reads a clock", ArchitectureTest::readsClock))
            .because("time is passed in"),
        engineNever()
            .dependOnClassesThat()
            .areAssignableTo(Random.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(SplittableRandom.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(RandomGeneratorFactory.class)
            .orShould()
            .accessTargetWhere(describe("it draws a lot", ArchitectureTest::drawsLot))
            .because("randomness is passed in"));
  }

  /** See decision 0033. */
  @TestFactory
  Stream<DynamicTest> simulatedRunIsTheSameInEveryProcess() {
    return tests(
        noClasses()
            .that(SIMULATED)
            .should()
            .accessTargetWhere(
                describe("it differs by process", ArchitectureTest::differsByProcess))
            .because("the hash of a seed is the same in every process"),
        fields()
            .that()
            .areDeclaredInClassesThat(SIMULATED)
            .and()
            .areStatic()
            .should()
            .beFinal()
            .because("seeds share a process, and one must not change another"));
  }

  @TestFactory
  Stream<DynamicTest> engineStartsNothingAndWaitsForNothing() {
    return tests(
        engineNever()
            .dependOnClassesThat()
            .haveNameMatching("java\\.lang\\.(Thread|ThreadGroup|Process|Runtime)(\\$.*)?")
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Thread.class)
            .because("threads belong to those who embed the engine"),
        engineNever()
            .dependOnClassesThat()
            .haveNameMatching(
                "java\\.util\\.(Timer.*|concurrent\\..*(Execut|ForkJoin|Scheduled|FutureTask).*)")
            .orShould()
            .accessTargetWhere(describe("it borrows a thread", ArchitectureTest::borrowsThread))
            .because("the engine says what is to run, others run it"),
        engineNever()
            .dependOnClassesThat()
            .resideInAPackage("java.util.concurrent.locks")
            .because("the engine's state belongs to one thread"),
        noMethods()
            .that()
            .areDeclaredInClassesThat()
            .resideInAPackage(ENGINE)
            .should()
            .haveModifier(SYNCHRONIZED)
            .because("the engine's state belongs to one thread"),
        engineNever(enterMonitors()).because("the engine's state belongs to one thread"));
  }

  @TestFactory
  Stream<DynamicTest> engineDoesNoInputOrOutput() {
    return tests(
        engineNever()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.logging..", "org.slf4j..", "org.apache.logging..")
            .orShould()
            .dependOnClassesThat()
            .haveNameMatching("java\\.lang\\.System\\$Logger.*")
            .orShould()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err")
            .because("a payload must never end up in a log"),
        engineNever()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "java.io..", "java.nio.file..", "java.nio.channels..", "java.net..", "javax.net..")
            .because("files and networks are the stores' and the library's business"));
  }

  @TestFactory
  Stream<DynamicTest> namesSayWhatATypeIs() {
    return Stream.of("Impl", "Util", "Utils", "Helper", "Manager")
        .map(suffix -> noClasses().should().haveSimpleNameEndingWith(suffix))
        .flatMap(ArchitectureTest::tests);
  }

  private static ArchRule onlyTheJdkAnd(String module, String... others) {
    return classes()
        .that()
        .resideInAPackage(module)
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(module, "java..").or(resideInAnyPackage(others)));
  }

  private static ArchRule noModuleBut(String module, String... others) {
    return noClasses()
        .that()
        .resideInAPackage(module)
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.carillon..")
                .and(not(resideInAPackage(module)))
                .and(not(resideInAnyPackage(others))));
  }

  private static ClassesShould engineNever() {
    return engine().should();
  }

  private static ArchRule engineNever(ArchCondition<JavaClass> condition) {
    return engine().should(condition);
  }

  private static GivenClassesConjunction engine() {
    return noClasses().that().resideInAPackage(ENGINE);
  }

  private static boolean readsClock(JavaAccess<?> access) {
    return isJavaTimeNow(access)
        || is(access, System.class, "nanoTime", "currentTimeMillis")
        || is(access, Date.class, "<init>");
  }

  private static boolean isJavaTimeNow(JavaAccess<?> access) {
    var name = access.getName();
    return access.getTargetOwner().getPackageName().equals("java.time")
        && (name.equals("now") || name.startsWith("system") || name.startsWith("tick"));
  }

  private static boolean drawsLot(JavaAccess<?> access) {
    return is(access, UUID.class, "randomUUID")
        || is(access, Math.class, "random")
        || is(access, StrictMath.class, "random")
        || is(access, RandomGenerator.class, "of", "getDefault");
  }

  /** An identity hash or the salt of an immutable set decides, or the machine does. */
  private static boolean differsByProcess(JavaAccess<?> access) {
    return is(access, HashMap.class, "<init>", "newHashMap")
        || is(access, HashSet.class, "<init>", "newHashSet")
        || is(access, ConcurrentHashMap.class, "<init>", "newKeySet")
        || is(access, WeakHashMap.class, "<init>")
        || is(access, IdentityHashMap.class, "keySet", "values", "entrySet", "forEach")
        || is(access, Collections.class, "newSetFromMap")
        || is(access, System.class, "identityHashCode")
        || is(access, Object.class, "hashCode")
        || is(access, Enum.class, "hashCode")
        || isSaltedCollection(access)
        || isHashCollector(access)
        || access.getName().startsWith("parallel")
        || is(access, Math.class, "pow", "exp", "log", "log10", "sin", "cos", "tan")
        || is(access, ZoneId.class, "systemDefault")
        || is(access, Locale.class, "getDefault");
  }

  /** With two elements or more: a single one has no order. */
  private static boolean isSaltedCollection(JavaAccess<?> access) {
    return is(access, Set.class, "copyOf")
        || is(access, Map.class, "copyOf", "ofEntries")
        || (is(access, Set.class, "of") && (parameters(access) > 1 || takesArray(access)))
        || (is(access, Map.class, "of") && parameters(access) > 2);
  }

  private static boolean isHashCollector(JavaAccess<?> access) {
    return is(access, Collectors.class, "toSet", "toUnmodifiableSet", "toUnmodifiableMap")
        || (is(access, Collectors.class, "toMap") && parameters(access) < 4)
        || (is(access, Collectors.class, "groupingBy") && parameters(access) < 3);
  }

  private static int parameters(JavaAccess<?> access) {
    return ((CodeUnitAccessTarget) access.getTarget()).getRawParameterTypes().size();
  }

  private static boolean takesArray(JavaAccess<?> access) {
    return ((CodeUnitAccessTarget) access.getTarget())
        .getRawParameterTypes().stream().anyMatch(JavaClass::isArray);
  }

  private static boolean is(JavaAccess<?> access, Class<?> owner, String... names) {
    return access.getTargetOwner().isEquivalentTo(owner)
        && List.of(names).contains(access.getName());
  }

  private static boolean borrowsThread(JavaAccess<?> access) {
    var name = access.getName();
    return access.getTargetOwner().isAssignableTo(CompletableFuture.class)
        && (name.endsWith("Async") || name.endsWith("Timeout") || name.equals("delayedExecutor"));
  }

  /** Synchronized blocks: an instruction, hence invisible in ArchUnit's own model. */
  private static ArchCondition<JavaClass> enterMonitors() {
    return new ArchCondition<>("contain synchronized blocks") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        try (InputStream classFile = type.getSource().orElseThrow().getUri().toURL().openStream()) {
          new ClassReader(classFile).accept(reporter(type, events), ClassReader.SKIP_FRAMES);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }

  private static ClassVisitor reporter(JavaClass type, ConditionEvents events) {
    return new ClassVisitor(Opcodes.ASM9) {
      @Override
      public MethodVisitor visitMethod(
          int access, String method, String descriptor, String signature, String[] exceptions) {
        return new MethodVisitor(Opcodes.ASM9) {
          @Override
          public void visitInsn(int opcode) {
            if (opcode == Opcodes.MONITORENTER) {
              events.add(
                  SimpleConditionEvent.satisfied(
                      type, type.getName() + "." + method + " has a synchronized block"));
            }
          }
        };
      }
    };
  }

  /** While a module is still empty, a rule about it finds nothing and that is fine. */
  private static Stream<DynamicTest> tests(ArchRule... rules) {
    return Stream.of(rules)
        .map(rule -> rule.allowEmptyShould(true))
        .map(rule -> dynamicTest(rule.getDescription(), () -> rule.check(MAIN_CLASSES)));
  }
}
