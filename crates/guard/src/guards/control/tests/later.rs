//! What would run later, or take dandori away.

use super::{is_refused, stage};
use crate::judge::Outcome;

#[test]
fn what_runs_by_itself_later_is_asked_about_and_what_lets_somebody_in_is_refused() {
    for (line, outcome) in [
        ("echo 'ssh-ed25519 AAAA' >> ~/.ssh/authorized_keys", Outcome::Block),
        ("cat key.pub | tee -a /home/user/.ssh/authorized_keys", Outcome::Block),
        ("echo 'export DANDORI_CONFIG=/tmp/x' >> ~/.bashrc", Outcome::Block),
        ("echo 'export CLAUDE_CODE_SIMPLE=1' >> ~/.zshenv", Outcome::Block),
        ("echo 'set -gx CLAUDE_CONFIG_DIR /tmp/x' >> ~/.config/fish/config.fish", Outcome::Block),
        ("echo 'export DANDORI_STATE_DIR=/tmp/x' > .envrc", Outcome::Block),
        ("echo 'alias ll=ls' >> ~/.bashrc", Outcome::Ask),
        ("cp unit.service ~/.config/systemd/user/x.service", Outcome::Ask),
        ("systemctl --user enable --now x", Outcome::Ask),
        ("cp x.desktop ~/.config/autostart/", Outcome::Ask),
        ("echo '* * * * * x' > /etc/cron.d/x", Outcome::Ask),
        ("crontab jobs.txt", Outcome::Ask),
        ("launchctl load ~/Library/LaunchAgents/x.plist", Outcome::Ask),
        ("echo 'Host x' >> ~/.ssh/config", Outcome::Ask),
        ("cat ~/.bashrc", Outcome::Pass),
        ("source ~/.bashrc", Outcome::Pass),
        ("crontab -l", Outcome::Pass),
        ("systemctl --user status x", Outcome::Pass),
        ("echo 'use flake' > .envrc", Outcome::Pass),
        ("echo 'export DATABASE_URL=x' >> .envrc", Outcome::Pass),
        ("echo x > deploy/x.service", Outcome::Pass),
        ("echo x > dotfiles/.bashrc", Outcome::Pass),
        ("mkdir -p ~/.config/systemd/user", Outcome::Pass),
    ] {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), outcome, "{line}: {}", judged.said());
    }
    assert!(is_refused(&stage().write("/home/user/.ssh/authorized_keys", "ssh-ed25519 AAAA")));
    assert!(is_refused(&stage().write(".envrc", "export CODEX_HOME=/tmp/x\n")));
    assert_eq!(stage().write("/home/user/.profile", "umask 077\n").outcome(), Outcome::Ask);
    let there = stage().file(".envrc", "export HOME=/x\n");
    assert_eq!(there.write(".envrc", "export HOME=/x\nuse flake\n").outcome(), Outcome::Pass, "it was there before");
}

#[test]
fn dandori_itself_is_neither_removed_nor_installed_anew() {
    for (line, refused) in [
        ("cargo uninstall dandori", true),
        ("cargo install dandori --force", true),
        ("cargo install --path crates/dandori", true),
        ("cargo install --path=crates/dandori --locked", true),
        ("cargo binstall dandori@0.1.0", true),
        ("sudo apt-get remove -y dandori", true),
        ("apt purge dandori", true),
        ("sudo dpkg -r dandori", true),
        ("sudo dpkg -i ./dandori_0.1_amd64.deb", true),
        ("brew uninstall dandori", true),
        ("brew reinstall me/tap/dandori", true),
        ("npm uninstall -g dandori", true),
        ("npm i -g @me/dandori@latest", true),
        ("pip uninstall -y dandori", true),
        ("pipx install dandori==1.0", true),
        ("uv tool uninstall dandori", true),
        ("pacman -Rns dandori", true),
        ("nix profile remove dandori", true),
        ("cargo build -p dandori", false),
        ("cargo test -p dandori --test cli", false),
        ("cargo install ripgrep", false),
        ("cargo install --path crates/cli", false),
        ("cargo add dandori-guard", false),
        ("apt-cache policy dandori", false),
        ("brew info dandori", false),
        ("git remote remove dandori", false),
        ("docker rm dandori", false),
        ("npm run build --workspace dandori", false),
    ] {
        let judged = stage().bash(line);
        assert_eq!(is_refused(&judged), refused, "{line}: {}", judged.said());
    }
    let ours = stage().file("app/Cargo.toml", "[package]\nname = \"dandori\"\n").file("Cargo.toml", "[workspace]\n");
    for (line, refused) in [
        ("cargo install --path app", true),
        ("cd app && cargo install --path . --force", true),
        ("cargo install --path .", false),
        ("cd app && cargo build", false),
    ] {
        assert_eq!(is_refused(&ours.bash(line)), refused, "{line}");
    }
}
