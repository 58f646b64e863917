/** Reports in the manner of the servers that send them, written for these tests. */

const crlf = (text: string): Buffer => Buffer.from(text.replace(/\n/g, '\r\n'));

interface Parts {
  readonly human?: string;
  readonly status: string;
  readonly original?: string;
}

const ORIGINAL = `Return-Path: <b+token-1@bounces.sender.example>
From: shop@sender.example
To: bob@receiver.example
Subject: Your receipt
Message-ID: <em_1@sender.example>

Thank you.
`;

/** A delivery status notification with these parts. */
export const dsn = ({ human = 'Sorry.', status, original = ORIGINAL }: Parts): Buffer =>
  crlf(`Return-Path: <>
From: MAILER-DAEMON@mx.receiver.example (Mail Delivery System)
To: b+token-1@bounces.sender.example
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
Message-ID: <20261120@mx.receiver.example>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="B/1"

--B/1
Content-Type: text/plain; charset=us-ascii

${human}

--B/1
Content-Type: message/delivery-status

${status}
--B/1
Content-Type: message/rfc822
Content-Disposition: inline

${original}
--B/1--
`);

/** An abuse report. */
export const arf = (fields: string, original = ORIGINAL): Buffer =>
  crlf(`From: <feedback@receiver.example>
To: <complaints@sender.example>
Subject: FW: Your receipt
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="B"

--B
Content-Type: text/plain

This is an abuse report.

--B
Content-Type: message/feedback-report

${fields}
--B
Content-Type: message/rfc822
Content-Disposition: inline

${original}
--B--
`);

export const POSTFIX = `Reporting-MTA: dns; mx.receiver.example
X-Postfix-Queue-ID: 4F0A1
X-Postfix-Sender: rfc822; b+token-1@bounces.sender.example
Arrival-Date: Fri, 20 Nov 2026 12:00:00 +0000 (UTC)

Final-Recipient: rfc822; bob@inner.example
Original-Recipient: rfc822;bob+2Bshop@receiver.example
Action: failed
Status: 5.1.1
Remote-MTA: dns; inner.example
Diagnostic-Code: smtp; 550 5.1.1 <bob@inner.example>: Recipient address
    rejected: User unknown in local recipient table
`;

export const EXIM = `Reporting-MTA: dns; exim.receiver.example

Action: failed
Final-Recipient: rfc822;bob@receiver.example
Status: 5.0.0
Remote-MTA: dns; mx.receiver.example
Diagnostic-Code: smtp; 550 Mailbox full
`;

export const EXCHANGE = `Reporting-MTA: dns;AM0PR01.prod.outlook.example
Received-From-MTA: dns;mail.sender.example
Arrival-Date: Fri, 20 Nov 2026 12:00:00 +0000

Final-Recipient: rfc822;bob@receiver.example
Action: failed
Status: 5.7.1
Diagnostic-Code: smtp;550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus
X-Display-Name: bob
`;

export const GMAIL = `Reporting-MTA: dns; googlemail.example
Arrival-Date: Fri, 20 Nov 2026 04:00:00 -0800 (PST)
X-Original-Message-ID: <em_1@sender.example>

Final-Recipient: rfc822; bob@receiver.example
Action: delayed
Status: 4.4.1
Diagnostic-Code: smtp; The recipient server did not accept our requests to connect.
Last-Attempt-Date: Fri, 20 Nov 2026 05:00:00 -0800 (PST)
Will-Retry-Until: Sun, 22 Nov 2026 04:00:00 -0800 (PST)
`;

export const EXPIRED = `Reporting-MTA: dns; relay.example

Final-Recipient: rfc822; bob@receiver.example
Action: failed
Status: 4.4.1
Diagnostic-Code: X-Relay; delivery temporarily suspended: connect to mx.receiver.example: Connection timed out
`;

export const SEVERAL = `Reporting-MTA: dns; relay.example

Final-Recipient: rfc822; a@receiver.example
Action: delivered
Status: 2.0.0
Remote-MTA: dns; mx.receiver.example
Diagnostic-Code: smtp; 250 2.0.0 Ok

Final-Recipient: rfc822; b@receiver.example
Action: relayed
Status: 2.0.0

Final-Recipient: rfc822; c@receiver.example
Action: failed (too large)
Status: 5.3.4
Diagnostic-Code: smtp; 552 5.3.4 Message too big
`;
