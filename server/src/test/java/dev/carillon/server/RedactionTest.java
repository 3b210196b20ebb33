package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.JobType;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.Role;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.jobs.Redaction;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Fields of inputs and results that are hidden from all but admins. */
class RedactionTest {
  private static final String JOBS = "/v1/namespaces/a/jobs";

  @Test
  void hiddenFieldsAreShownToAdminsAlone() {
    try (ServerFixture fixture =
            ServerFixture.on(
                Carillon.builder().inMemory(),
                carillon ->
                    ServerFixture.OPTIONS
                        .redaction(Redaction.ofFields(Set.of("card", "pin")))
                        .access(
                            new ProvenAccess(
                                List.of(
                                    new TokenProof(
                                        new Tokens(
                                            carillon.node().sharedRecords(Tokens.AREA)))))));
        ApiClient admin = fixture.client.as(fixture.token(Role.ADMIN, "a"));
        ApiClient operator = fixture.client.as(fixture.token(Role.OPERATOR, "a"))) {
      fixture.carillon.handle(
          JobType.of("echo", RawPayload.class, RawPayload.class), (input, job) -> input);
      String input =
          "{\"who\": 1.50, \"card\": {\"number\": 4}, \"list\": [{\"pin\": 1, \"x\": null}]}";
      String id =
          admin
              .post(JOBS, "{\"type\": \"echo\", \"input\": " + input + "}")
              .expect(201)
              .json()
              .path("id")
              .asString();
      String hidden = "{\"who\":1.50,\"card\":\"***\",\"list\":[{\"pin\":\"***\",\"x\":null}]}";
      for (String what : List.of("/input", "/result?wait=10s")) {
        assertThat(admin.get(JOBS + "/" + id + what).expect(200).text()).isEqualTo(input);
        assertThat(operator.get(JOBS + "/" + id + what).expect(200).text()).isEqualTo(hidden);
      }
      String bytes =
          admin
              .post(
                  JOBS,
                  "{\"type\": \"t\", \"in\": \"1h\", \"inputBase64\": \"AAEC\","
                      + " \"inputCodec\": \"bin\"}")
              .expect(201)
              .json()
              .path("id")
              .asString();
      admin.get(JOBS + "/" + bytes + "/input").expect(200);
      operator.get(JOBS + "/" + bytes + "/input").expect(204);
    }
  }
}
