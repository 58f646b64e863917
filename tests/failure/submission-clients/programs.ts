/**
 * The programs that hand mail in at the submission port, each as it is in Debian, and nodemailer. They run in
 * one file tree.
 */

/** A program and the mail that it sends. */
export interface SubmissionProgram {
  /** Files of the tree, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Shell commands in the tree, in /tmp/posthorn. They find the port in PORT, the password in KEY. */
  readonly command: string;
  /** The messages that it sends. */
  readonly messages: number;
  /** True when one of them has the file as an attachment. */
  readonly hasFile?: true;
  /** True when one of them is an invitation. */
  readonly invites?: true;
  /** True when each message after the first refers to one before it. */
  readonly isSeries?: true;
}

/** The packages of the tree. */
export const PROGRAM_PACKAGES = [
  'msmtp',
  'nullmailer',
  's-nail',
  'swaks',
  'git',
  'git-email',
  'libauthen-sasl-perl',
  'libmailtools-perl',
  'libio-socket-ssl-perl',
  'libnet-smtp-ssl-perl',
  'python3',
  'php-cli',
  'libphp-phpmailer',
  'ruby',
  'ruby-mail',
  'libsasl2-modules',
];

/** The file that programs attach, under this name. */
export const FILE_NAME = 'order.pdf';
export const FILE = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * at + at) % 256));

export const CALENDAR = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Shop//Orders//EN',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:visit-7@sender.example',
  'DTSTAMP:20261127T100000Z',
  'DTSTART:20261201T100000Z',
  'DTEND:20261201T110000Z',
  'SUMMARY:Visit',
  'ORGANIZER:mailto:shop@sender.example',
  'ATTENDEE;RSVP=TRUE:mailto:ada@example.com',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n');

/**
 * A message with what programs must not touch: an octet in latin1, lines with dots, spaces at an end, a
 * folded reference, a hidden recipient.
 */
export const MESSAGE = [
  'From: Shop <shop@sender.example>',
  'To: Ada <ada@example.com>',
  'Bcc: hidden@example.com',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from the shop',
  'Date: Fri, 27 Nov 2026 10:00:00 +0100',
  'Message-ID: <order-7@sender.example>',
  'References: <order-5@sender.example>',
  '\t<order-6@sender.example>',
  'In-Reply-To: <order-6@sender.example>',
  'X-Order:  7 ',
  'List-Id: <orders.sender.example>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=iso-8859-1; format=flowed',
  'Content-Transfer-Encoding: 8bit',
  '',
  '.',
  '..two dots',
  'Gr\xfc\xdfe ',
  '-- ',
  'From the shop',
  '',
  '',
].join('\n');

const PYTHON = `
import os, smtplib
from email.message import EmailMessage
from email.utils import make_msgid, localtime
message = EmailMessage()
message["From"] = "Grüße Shop <shop@sender.example>"
message["To"] = "Ada <ada@example.com>"
message["Bcc"] = "hidden@example.com"
message["Subject"] = "Die Bestellung ist unterwegs – " + "ein langer Betreff " * 6
message["Date"] = localtime()
message["Message-ID"] = make_msgid(domain="sender.example")
message["References"] = "<order-5@sender.example> <order-6@sender.example>"
message["In-Reply-To"] = "<order-6@sender.example>"
message.set_content("Grüße\\n.\\n")
message.add_alternative("<p>Grüße</p>", subtype="html")
message.add_alternative(open("calendar.ics", newline="").read(), subtype="calendar", params={"method": "REQUEST"})
message.add_attachment(open("order.pdf", "rb").read(), maintype="application", subtype="pdf", filename="order.pdf")
with smtplib.SMTP("127.0.0.1", int(os.environ["PORT"])) as smtp:
    smtp.login("svc", os.environ["KEY"])
    smtp.send_message(message, to_addrs=["ada@example.com", "hidden@example.com"])
`;

const PHP = `<?php
foreach (['Exception', 'SMTP', 'PHPMailer'] as $class) require "/usr/share/php/libphp-phpmailer/src/$class.php";
$mail = new PHPMailer\\PHPMailer\\PHPMailer(true);
$mail->isSMTP();
$mail->Host = '127.0.0.1';
$mail->Port = (int) getenv('PORT');
$mail->SMTPAuth = true;
$mail->SMTPAutoTLS = false;
$mail->Username = 'svc';
$mail->Password = getenv('KEY');
$mail->CharSet = 'utf-8';
$mail->setFrom('shop@sender.example', 'Grüße Shop');
$mail->addAddress('ada@example.com', 'Ada');
$mail->addBCC('hidden@example.com');
$mail->addCustomHeader('References', '<order-5@sender.example> <order-6@sender.example>');
$mail->addCustomHeader('In-Reply-To', '<order-6@sender.example>');
$mail->Subject = 'Die Bestellung ist unterwegs – mit Grüßen';
$mail->isHTML(true);
$mail->Body = '<p>Grüße</p>';
$mail->AltBody = "Grüße\\n.\\n";
$mail->Ical = file_get_contents('calendar.ics');
$mail->addAttachment('order.pdf');
$mail->send();
`;

const RUBY = `
require 'mail'
Mail.defaults do
  delivery_method :smtp, address: '127.0.0.1', port: ENV['PORT'].to_i, user_name: 'svc', password: ENV['KEY'],
    authentication: :plain, enable_starttls_auto: false
end
mail = Mail.new do
  from 'Grüße Shop <shop@sender.example>'
  to 'Ada <ada@example.com>'
  bcc 'hidden@example.com'
  subject 'Die Bestellung ist unterwegs – mit Grüßen'
  in_reply_to '<order-6@sender.example>'
  references '<order-5@sender.example> <order-6@sender.example>'
  text_part { body "Grüße\\n.\\n" }
  html_part { content_type 'text/html; charset=utf-8'; body '<p>Grüße</p>' }
  add_file 'order.pdf'
end
mail.add_part(Mail::Part.new do
  content_type 'text/calendar; charset=utf-8; method=REQUEST'
  body File.binread('calendar.ics')
end)
mail.deliver!
`;

/** A program ends by itself unless it is a daemon; then it is ended once its mail has come. */
export const PROGRAMS: Readonly<Record<string, SubmissionProgram>> = {
  msmtp: {
    messages: 1,
    command: `printf 'account default\\nhost 127.0.0.1\\nport %s\\nfrom shop@sender.example\\nauth plain\\nuser svc\\npassword %s\\ntls off\\n' "$PORT" "$KEY" > msmtprc
      chmod 600 msmtprc; msmtp -C msmtprc -t < message.eml`,
  },
  nullmailer: {
    messages: 1,
    files: {
      '/etc/nullmailer/me': 'mx.sender.example\n',
      '/etc/nullmailer/defaultdomain': 'sender.example\n',
      '/etc/nullmailer/pausetime': '1\n',
    },
    command: `echo "127.0.0.1 smtp --port=$PORT --user=svc --pass=$KEY" > /etc/nullmailer/remotes
      rm -f /var/spool/nullmailer/trigger /var/spool/nullmailer/*/*; mkfifo -m 622 /var/spool/nullmailer/trigger
      chown -R mail:mail /var/spool/nullmailer; chown mail /etc/nullmailer/remotes
      su -s /bin/sh mail -c 'exec /usr/sbin/sendmail -f shop@sender.example -t < /tmp/posthorn/message.eml' && exec su -s /bin/sh mail -c 'exec nullmailer-send'`,
  },
  's-nail': {
    messages: 1,
    hasFile: true,
    command: `echo 'Grüße' | LC_ALL=C.UTF-8 s-nail -:/ -Sv15-compat -Sttycharset=utf-8 "-Smta=smtp://svc:$KEY@127.0.0.1:$PORT" -Ssmtp-auth=plain \\
      -Sreply-to=help@sender.example -r shop@sender.example -s 'Grüße vom Laden' -a order.pdf -b hidden@example.com ada@example.com`,
  },
  swaks: {
    messages: 1,
    hasFile: true,
    command: `swaks --server 127.0.0.1 --port "$PORT" --auth PLAIN --auth-user svc --auth-password "$KEY" --from shop@sender.example \\
      --to ada@example.com,hidden@example.com --h-Subject 'Order' --add-header 'References: <order-5@sender.example> <order-6@sender.example>' \\
      --body 'It is here.' --attach-type application/pdf --attach-name order.pdf --attach @order.pdf`,
  },
  'git send-email': {
    messages: 4,
    isSeries: true,
    command: `rm -rf repository; export HOME=/tmp/posthorn; git config --global user.name 'Grüße Shop'; git config --global user.email shop@sender.example
      git config --global init.defaultBranch main; git init -q repository; cd repository
      for n in 1 2 3; do printf 'Grüße %s \\t\\n.\\nFrom here\\n' $n > file$n; git add .; git commit -qm "area: add file $n — ü"; done
      git format-patch -q --root --cover-letter --subject-prefix='PATCH' -o out; sed -i 's/[*]\\{3\\} [A-Z]* HERE [*]\\{3\\}/Grüße/' out/0000*
      git send-email --quiet --confirm=never --suppress-cc=all --smtp-server=127.0.0.1 --smtp-server-port="$PORT" --smtp-user=svc --smtp-pass="$KEY" \\
        --smtp-auth=PLAIN --to='Ada <ada@example.com>' --8bit-encoding=UTF-8 --thread --no-chain-reply-to out/*.patch`,
  },
  'Python smtplib': {
    messages: 1,
    hasFile: true,
    invites: true,
    files: { '/tmp/posthorn/send.py': PYTHON },
    command: 'python3 send.py',
  },
  PHPMailer: {
    messages: 1,
    hasFile: true,
    invites: true,
    files: { '/tmp/posthorn/send.php': PHP },
    command: 'php send.php',
  },
  'Ruby mail': {
    messages: 1,
    hasFile: true,
    invites: true,
    files: { '/tmp/posthorn/send.rb': RUBY },
    command: 'LC_ALL=C.UTF-8 ruby send.rb',
  },
};
