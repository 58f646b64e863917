-- The limits that servers have shown: connections at once, mails a session, recipients a mail, mails a minute, octets a mail. Each has its value, when it
-- was shown last (epoch milliseconds) and how long it is kept to from then on before more is tried. All instances share them, and a restart
-- keeps them; what was not shown for a week is forgotten.
create table learned_limits (
  transport text not null check (transport in ('smtp', 'direct')),
  server text collate "C" not null,
  limits json not null,
  changed_at timestamptz not null,
  primary key (transport, server)
) with (fillfactor = 50);
