/**
 * Jobs whose work is an HTTP request: the type {@code carillon.webhook}, which needs no worker.
 * This room knows no route and nothing of the server's own HTTP.
 *
 * <p>The way of an attempt, each step with its answer where the attempt ends there:
 *
 * <ol>
 *   <li>{@link dev.carillon.server.webhook.WebhookRequest}: the stored request, checked again; an
 *       unfit one is not retried.
 *   <li>{@link dev.carillon.server.webhook.AddressGuard}: every address of the name must be one
 *       that the namespace may reach; else not retried. A name without an address is retried.
 *   <li>{@link dev.carillon.server.webhook.HttpExchange}: a connection to a checked address, under
 *       the original name; one request, one answer, all of it before one deadline.
 *   <li>{@link dev.carillon.server.webhook.WebhookHandler}: the status decides. 2xx succeeds as
 *       soon as its header is there; the rest of the answer can only shorten the result.
 * </ol>
 *
 * <table border="1">
 *   <caption>What a fault leads to</caption>
 *   <tr><th>fault</th><th>what happens</th></tr>
 *   <tr><td>the process dies before the request was sent</td><td>the attempt is made again</td></tr>
 *   <tr><td>… after it was sent</td><td>the request is sent again under the same {@code webhook-id}</td></tr>
 *   <tr><td>no outcome can be written</td><td>the same</td></tr>
 *   <tr><td>the receiver hangs, trickles or does not read</td><td>the deadline closes the connection</td></tr>
 *   <tr><td>the answer is endless</td><td>64 KiB are read, then the connection is closed</td></tr>
 *   <tr><td>the name changes its addresses after the check</td><td>nobody looks again</td></tr>
 *   <tr><td>the node stops, the job is cancelled</td><td>the thread is interrupted, which closes the
 *       connection</td></tr>
 *   <tr><td>the clock jumps</td><td>deadlines are monotonic; the signed time is the wall clock's</td></tr>
 * </table>
 *
 * <p>State: none but threads. Secrets and ranges come from {@link
 * dev.carillon.server.webhook.WebhookSettings} for each attempt, so a changed file counts at once.
 */
@NullMarked
package dev.carillon.server.webhook;

import org.jspecify.annotations.NullMarked;
