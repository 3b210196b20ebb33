package dev.carillon.server.login;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jwt.JWT;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.GeneralException;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.claims.IDTokenClaimsSet;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The provider: what it says of itself, where people go to, and what it says of them. */
final class Provider {
  private static final int PATIENCE_MILLIS = 5_000;
  private static final int MAX_BYTES = 1 << 20;
  private static final long KNOWN_NANOS = Duration.ofHours(1).toNanos();
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.PS256,
          JWSAlgorithm.ES256,
          JWSAlgorithm.ES384,
          JWSAlgorithm.RS512);

  private final OidcOptions options;
  private volatile @Nullable Known known;

  private record Known(OIDCProviderMetadata metadata, long atNanos) {}

  /** What the provider could not, or would not, say. */
  static final class SignInFailed extends Exception {
    private static final long serialVersionUID = 1L;

    SignInFailed(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * A person.
   *
   * @param name what people call them
   * @param groups their groups
   */
  record Person(String name, List<String> groups) {}

  Provider(OidcOptions options) {
    this.options = options;
  }

  private OIDCProviderMetadata metadata() throws SignInFailed {
    Known last = known;
    if (last != null && System.nanoTime() - last.atNanos() < KNOWN_NANOS) {
      return last.metadata();
    }
    try {
      OIDCProviderMetadata metadata =
          OIDCProviderMetadata.resolve(
              new Issuer(options.issuer()), PATIENCE_MILLIS, PATIENCE_MILLIS);
      known = new Known(metadata, System.nanoTime());
      return metadata;
    } catch (GeneralException | IOException e) {
      throw new SignInFailed("the provider does not describe itself", e);
    }
  }

  /** Where a browser is sent to. */
  URI begin(String state, String nonce, String verifier) throws SignInFailed {
    return new AuthenticationRequest.Builder(
            ResponseType.CODE,
            new Scope("openid", "profile", "email"),
            new ClientID(options.clientId()),
            options.callback())
        .endpointURI(metadata().getAuthorizationEndpointURI())
        .state(new State(state))
        .nonce(new Nonce(nonce))
        .codeChallenge(new CodeVerifier(verifier), CodeChallengeMethod.S256)
        .build()
        .toURI();
  }

  /** Who the code is for. */
  Person person(String code, String nonce, String verifier) throws SignInFailed {
    OIDCProviderMetadata metadata = metadata();
    AuthorizationCodeGrant grant =
        new AuthorizationCodeGrant(
            new AuthorizationCode(code), options.callback(), new CodeVerifier(verifier));
    ClientID client = new ClientID(options.clientId());
    String secret = options.clientSecret();
    URI endpoint = metadata.getTokenEndpointURI();
    TokenRequest request =
        secret != null
            ? new TokenRequest.Builder(
                    endpoint, new ClientSecretBasic(client, new Secret(secret)), grant)
                .build()
            : new TokenRequest.Builder(endpoint, client, grant).build();
    try {
      HTTPRequest http = request.toHTTPRequest();
      http.setConnectTimeout(PATIENCE_MILLIS);
      http.setReadTimeout(PATIENCE_MILLIS);
      http.setFollowRedirects(false);
      TokenResponse answer = OIDCTokenResponseParser.parse(http.send());
      if (!(answer instanceof OIDCTokenResponse tokens)) {
        throw new SignInFailed("the provider refuses the code", null);
      }
      return person(valid(tokens.getOIDCTokens().getIDToken(), metadata, client, nonce));
    } catch (GeneralException | BadJOSEException | JOSEException | IOException e) {
      throw new SignInFailed("the provider's answer does not hold", e);
    }
  }

  private static IDTokenClaimsSet valid(
      JWT token, OIDCProviderMetadata metadata, ClientID client, String nonce)
      throws IOException, BadJOSEException, JOSEException, SignInFailed {
    if (!(token.getHeader().getAlgorithm() instanceof JWSAlgorithm algorithm)
        || !ALGORITHMS.contains(algorithm)) {
      throw new SignInFailed("the ID token is signed in no way that counts here", null);
    }
    return new IDTokenValidator(
            metadata.getIssuer(),
            client,
            algorithm,
            metadata.getJWKSetURI().toURL(),
            new DefaultResourceRetriever(PATIENCE_MILLIS, PATIENCE_MILLIS, MAX_BYTES))
        .validate(token, new Nonce(nonce));
  }

  private Person person(IDTokenClaimsSet claims) {
    String name = claims.getSubject().getValue();
    for (String claim : List.of("email", "preferred_username")) {
      String value = claims.getStringClaim(claim);
      if (value != null && !value.isBlank()) {
        name = value;
      }
    }
    List<String> groups = claims.getStringListClaim(options.groupsClaim());
    String safe = name.replaceAll("[^\\p{L}\\p{N}._@+-]", "_");
    return new Person(
        safe.length() > 100 ? safe.substring(0, 100) : safe, groups == null ? List.of() : groups);
  }
}
