/**
 * Sign-in of people: by OpenID Connect, the code flow with PKCE in the browser, or by a token.
 *
 * <ol>
 *   <li>{@code /v1/login} sends the browser to the provider. What the answer has to fit (state,
 *       nonce, verifier) goes into a cookie, sealed, so that any server of the store can take the
 *       answer.
 *   <li>{@code /v1/login/callback} takes the code, trades it for an ID token, checks that, and
 *       looks up what the groups in it may ({@link dev.carillon.server.login.OidcOptions}).
 *   <li>A session is a sealed cookie with name, grants and end. {@link
 *       dev.carillon.server.login.Sessions} opens it for each request. A change needs the {@code
 *       Origin} of the server's own pages besides.
 * </ol>
 *
 * <p>Who types a token into the pages has a session of another kind: the sealed cookie has the
 * token, which judges each request ({@link dev.carillon.server.login.TokenSessions}).
 *
 * <p>Only this room knows the nimbus libraries. State: the key of the seals, a record of the store;
 * what the provider says of itself, asked again every hour. Crash behaviour: nothing is kept of a
 * sign-in that is under way; the person starts again.
 */
@NullMarked
package dev.carillon.server.login;

import org.jspecify.annotations.NullMarked;
