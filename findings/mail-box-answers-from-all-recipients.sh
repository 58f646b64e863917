#!/bin/sh
# Mail::Message 3.012 (Debian 12: libmail-message-perl 3.012-1, of Mail::Box, unpacked with its libraries and not installed) on Perl.
#
# Guess: `reply` makes an answer from the person who got the message, to its sender, with the subject "Re: …".
# Seen:  the answer is from all recipients in To: "ann@…, ben@…", which RFC 5322 3.6.2 allows with a Sender only, and which servers refuse.
#        The line above the quotation names the address of Reply-To as the author, and the subject of a second answer is "Re[2]: …".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libmail-message-perl=3.012-1 libmailtools-perl libmime-types-perl libtimedate-perl liburi-perl libuser-identity-perl libio-stringy-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.pl <<'PL'
use Mail::Message;
use Mail::Message::Construct::Reply;
print "Mail::Message $Mail::Message::VERSION\n";
for my $to ('ann@home.example', 'ann@home.example, ben@home.example') {
  my $message = Mail::Message->read("From: Jane Doe <jane\@shop.example>\nReply-To: help\@shop.example\nTo: $to\nSubject: Re: Order 4711\n"
    . "Message-ID: <1\@shop.example>\nDate: Mon, 30 Nov 2026 12:00:00 +0000\n\nHello.\n");
  my $answer = $message->reply;
  print "$_: ", $answer->get($_) // '-', "\n" for qw(From Sender To Subject);
  print +(split /\n/, $answer->body->string)[0], "\n";
}
PL
PERL5LIB=$PWD/root/usr/share/perl5 perl see.pl | tee seen
cat > expected <<'TEXT'
Mail::Message 3.012
From: ann@home.example
Sender: -
To: help@shop.example
Subject: Re[2]: Order 4711
On Mon Nov 30 12:00:00 2026, help@shop.example wrote:
From: ann@home.example, ben@home.example
Sender: -
To: help@shop.example
Subject: Re[2]: Order 4711
On Mon Nov 30 12:00:00 2026, help@shop.example wrote:
TEXT
diff expected seen
echo 'As expected.'
